namespace Treepie.Storage.Trees;

/// <summary>Size of a tree, and how much of it is in use.</summary>
/// <param name="Keys">Keys.</param>
/// <param name="LeafPages">Leaves, of 8 KiB each.</param>
/// <param name="BranchPages">Branches, of 8 KiB each.</param>
/// <param name="RunPages">Pages of values that are too long for a leaf.</param>
/// <param name="UsedBytes">Bytes in use in all these pages: page headers, keys, values, and their heads and
/// slots.</param>
/// <param name="KeyBytes">Bytes of the keys as stored in the leaves: the common prefix of a leaf counts once.</param>
/// <param name="ValueBytes">Bytes of the values.</param>
public readonly record struct TreeSize(
    long Keys, long LeafPages, long BranchPages, long RunPages, long UsedBytes, long KeyBytes, long ValueBytes)
{
    /// <summary>All pages.</summary>
    public long Pages => LeafPages + BranchPages + RunPages;

    /// <summary>Bytes of all pages.</summary>
    public long SizeBytes => Pages * Format.PageLayout.SizeBytes;
}
