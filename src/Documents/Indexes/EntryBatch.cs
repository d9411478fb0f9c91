using Treepie.Indexing;

namespace Treepie.Indexes;

/// <summary>A batch with one entry per document.</summary>
internal sealed class EntryBatch(IndexWriter writer, EntryWriter entries) : MapBatch
{
    public override int Count => Entries.Count;

    public override long SizeBytes => Entries.SizeBytes;

    public IndexBatch Entries { get; } = writer.BeginBatch();

    public override bool Add(MappedChanges feed)
    {
        entries.Add(feed, Entries);
        return true;
    }

    // A batch of the same index, so of the same type.
    public override void Append(MapBatch other) => Entries.Append(((EntryBatch)other).Entries);

    public override void Clear() => Entries.Clear();

    public override bool TryCommit(long etag, CancellationToken cancellationToken)
    {
        writer.Commit(Entries, etag, cancellationToken);
        return true;
    }
}
