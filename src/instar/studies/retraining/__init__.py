"""Does a detector become better by the pictures that it fails on?"""
