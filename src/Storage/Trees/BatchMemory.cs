using Treepie.Storage.Format;

namespace Treepie.Storage.Trees;

/// <summary>Working memory of a batch, reused by later batches, so that a commit does not allocate it.</summary>
/// <param name="isSecret">Whether page contents are wiped when a batch has finished.</param>
internal sealed class BatchMemory(bool isSecret)
{
    private const int KeptEntries = 1 << 16;

    public List<PageWriter.WrittenPage> Written { get; private set; } = [];

    public List<PageWriter.FreedRun> Freed { get; private set; } = [];

    public List<PageWriter.PageImage> Images { get; } = [];

    /// <summary>Trees whose record changed; null for a dropped tree.</summary>
    public Dictionary<string, TreeRecord?> Trees { get; private set; } = new(StringComparer.Ordinal);

    /// <summary>The path from root to leaf of the current change; only one tree is changed at a time.</summary>
    public PageReference[] Path { get; } = new PageReference[TreeRecord.MaxLevels];

    /// <summary>The entry taken in each page of <see cref="Path"/>.</summary>
    public int[] PathIndex { get; } = new int[TreeRecord.MaxLevels];

    /// <summary>The writer whose path this is: any other writer must descend again.</summary>
    public TreeWriter? PathOwner { get; set; }

    /// <summary>A copy of the page that is being rebuilt.</summary>
    public byte[] PageCopy { get; } = new byte[PageLayout.SizeBytes];

    /// <summary>Prepares for the next batch, and drops lists that a very large batch has grown.</summary>
    public void Clear()
    {
        if (Written.Capacity > KeptEntries)
            Written = [];
        if (Freed.Capacity > KeptEntries)
            Freed = [];
        if (Trees.Count > KeptEntries)
            Trees = new(StringComparer.Ordinal);
        PathOwner = null;
        if (isSecret)
            PageCopy.AsSpan().Clear();
        Written.Clear();
        Freed.Clear();
        Images.Clear();
        Trees.Clear();
    }
}
