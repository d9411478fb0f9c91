using Treepie.Storage.Format;

namespace Treepie.Storage.Trees;

/// <summary>What a batch works with and the next but one uses again, so that a commit allocates none of it.</summary>
/// <param name="isSecret">Whether it is to hold nothing of a batch that is over.</param>
internal sealed class BatchMemory(bool isSecret)
{
    private const int KeptEntries = 1 << 16;

    public List<PageWriter.WrittenPage> Written { get; private set; } = [];

    public List<PageWriter.FreedRun> Freed { get; private set; } = [];

    public List<PageWriter.PageImage> Images { get; } = [];

    /// <summary>Trees whose record changed; null: dropped.</summary>
    public Dictionary<string, TreeRecord?> Trees { get; private set; } = new(StringComparer.Ordinal);

    /// <summary>
    /// The pages from root to leaf that the running change of a tree goes through; one tree is changed at a time.
    /// </summary>
    public PageReference[] Path { get; } = new PageReference[TreeRecord.MaxLevels];

    /// <summary>The place taken in each of them.</summary>
    public int[] PathIndex { get; } = new int[TreeRecord.MaxLevels];

    /// <summary>Whose path it is: who finds another's here goes down again.</summary>
    public TreeWriter? PathOwner { get; set; }

    /// <summary>A page that is being written anew.</summary>
    public byte[] PageCopy { get; } = new byte[PageLayout.SizeBytes];

    /// <summary>Makes it ready for the next batch; what a very large one left goes.</summary>
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
