"""The relations of object detection: which changes must leave what is found as it is."""
