using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Postings;

/// <summary>
/// Reusable buffers for writing dictionaries, which saves allocations at every commit. Used by one
/// <see cref="PostingWriter"/> at a time.
/// </summary>
internal sealed class PostingMemory
{
    /// <summary>Largest buffer in bytes, and most words, that are kept.</summary>
    private const int KeepBytes = 1 << 20, KeepWords = 1 << 16;

    /// <summary>Changes terms.</summary>
    public TermTreeWriter Terms { get; } = new(static value => new TermPayload(value).EntryCount);

    /// <summary>Changes segments.</summary>
    public PostingEdit Edit { get; } = new();

    /// <summary>Changes heads of long lists.</summary>
    public ListHeadEdit Heads { get; } = new();

    /// <summary>Changes positions.</summary>
    public PositionStore Positions { get; } = new();

    /// <summary>Builds short lists without positions.</summary>
    public PostingBuffer Plain { get; } = new(keepsPositions: false);

    /// <summary>Builds short lists with positions.</summary>
    public PostingBuffer Placed { get; } = new(keepsPositions: true);

    /// <summary>Buffer for the value of a term.</summary>
    public byte[] Payload { get; } = new byte[Math.Max(
        TermPayload.MaxHeadBytes + FlatPostings.MaxBytes, TermPayload.MaxLongBytes)];

    /// <summary>New words: the number of each, and where it is in <see cref="Names"/>.</summary>
    public List<(long Word, int Start, int Length)> Named { get; } = [];

    /// <summary>The bytes of new words.</summary>
    public ByteArena Names { get; } = new();

    /// <summary>Clears the state of the previous dictionary.</summary>
    public void Clear()
    {
        Named.Clear();
        if (Named.Capacity > KeepWords)
            Named.Capacity = 0;
        Names.Clear(KeepBytes);
    }
}
