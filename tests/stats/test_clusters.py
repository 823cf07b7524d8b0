"""Frames of a video are one cluster in the statistics."""

from instar.stats.clusters import cluster_of, counts_by_cluster


def test_frames_belong_to_their_video_and_pictures_to_themselves():
    counts = {"a.mp4#000000": 1, "a.mp4#000030": 2, "b.png": 4, "c#000001": 8}
    assert counts_by_cluster(counts) == {"a.mp4": 3, "b.png": 4, "c#000001": 8}
    assert cluster_of("day/a.mp4#000030") == "day/a.mp4"
