namespace Treepie.Storage.Trees;

/// <summary>The size of a tree, and how much of it is in use.</summary>
/// <param name="Keys">The number of keys.</param>
/// <param name="LeafPages">The number of leaf pages, of 8 KiB each.</param>
/// <param name="BranchPages">The number of branch pages, of 8 KiB each.</param>
/// <param name="RunPages">The number of pages of values that are too long for a leaf.</param>
/// <param name="UsedBytes">The number of bytes in use in these pages: page headers, keys, values, and their heads and
/// slots.</param>
/// <param name="KeyBytes">The number of bytes of the keys as stored: the common prefix of a leaf counts once.</param>
/// <param name="ValueBytes">The number of bytes of the values.</param>
public readonly record struct TreeSize(
    long Keys, long LeafPages, long BranchPages, long RunPages, long UsedBytes, long KeyBytes, long ValueBytes)
{
    /// <summary>The total number of pages.</summary>
    public long Pages => LeafPages + BranchPages + RunPages;

    /// <summary>The total size in bytes.</summary>
    public long SizeBytes => Pages * Format.PageLayout.SizeBytes;
}
