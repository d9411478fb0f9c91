namespace Treepie.Storage.Trees;

/// <summary>How much room a tree takes, and how much of it is in use.</summary>
/// <param name="Keys">Keys.</param>
/// <param name="LeafPages">Leaves, of 8 KiB each.</param>
/// <param name="BranchPages">Branches, of 8 KiB each.</param>
/// <param name="RunPages">Pages of values that are too long for a leaf.</param>
/// <param name="UsedBytes">Bytes of all these pages that hold something: headers of pages, keys, values and where they
/// lie.</param>
/// <param name="KeyBytes">Bytes of the keys as they lie in the leaves: without what all keys of a leaf begin with.</param>
/// <param name="ValueBytes">Bytes of the values.</param>
public readonly record struct TreeSize(
    long Keys, long LeafPages, long BranchPages, long RunPages, long UsedBytes, long KeyBytes, long ValueBytes)
{
    /// <summary>All pages.</summary>
    public long Pages => LeafPages + BranchPages + RunPages;

    /// <summary>Bytes of all pages.</summary>
    public long SizeBytes => Pages * Format.PageLayout.SizeBytes;
}
