// Most tests here start servers and fill them: side by side they would measure each other.
[assembly: CollectionBehavior(DisableTestParallelization = true)]
