namespace Treepie.Indexing.Postings;

/// <summary>An entry that has a term, and how often.</summary>
internal readonly record struct Posting(long EntryId, int Frequency)
{
    public long Window => EntryId >> PostingWindow.SizeBits;

    public ushort Offset => (ushort)(EntryId & (PostingWindow.Size - 1));
}
