using Treepie.Indexes.Computed;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.Outputs;
using Treepie.Indexes.States;
using Treepie.Indexing;

namespace Treepie.Indexes.Reducing;

/// <summary>A batch of mapped results, which are reduced at commit.</summary>
internal sealed class ResultBatch(
    IndexWriter writer, ResultWriter results, Reducer reducer, MappingAgain again, MapCounters maps, ReduceCounters reduces,
    ReduceOutputs? outputs) : MapBatch
{
    private readonly MappedDocuments _documents = new();
    private readonly IndexBatch _entries = writer.BeginBatch();

    private MapTally Tally => results.Tally;

    public override int Count => _documents.Count;

    public override long SizeBytes => _documents.SizeBytes;

    public override bool IsWithinChange => again.IsWithinChange;

    public override IReadOnlyCollection<DynamicField> NewFields => reducer.NewFields;

    public override bool Add(MappedChanges feed)
    {
        if (feed.IsOwn && again.Concerns(feed))
            _documents.Add(results.Map(feed));
        return again.Run(feed, AddAgain);
    }

    public override void Append(MapBatch other)
    {
        var batch = (ResultBatch)other; // a batch of the same index has the same type
        foreach (MappedDocument document in batch._documents.Last)
            _documents.Add(document);
        Tally.Add(batch.Tally);
    }

    public override void Clear()
    {
        _documents.Clear();
        _entries.Clear();
        again.Clear();
        reducer.NewFields.Clear();
        Tally.Clear();
    }

    public override bool TryCommit(long etag, CancellationToken cancellationToken)
    {
        try
        {
            Commit(etag, cancellationToken);
        }
        catch (NewFieldsException)
        {
            return false;
        }

        maps.Add(Tally);
        reduces.Add(reducer.Counters);
        Clear();
        return true;
    }

    private void Commit(long etag, CancellationToken cancellationToken) =>
        writer.Commit(
            _entries,
            etag,
            (transaction, entries) =>
            {
                entries.Clear(); // from a failed attempt
                reducer.NewFields.Clear();
                reducer.Counters.Clear();
                StateTree? references = outputs?.Target.Pattern is null
                    ? null
                    : new StoredStateTree(transaction.GetOrCreateTree(ReduceOutputs.ReferencesTree));
                reducer.Apply(ReduceState.In(transaction), _documents.Last, entries, cancellationToken, references);
                if (reducer.NewFields.Count > 0)
                    throw new NewFieldsException();
                again.Write(transaction, _documents.References());
                maps.Write(
                    transaction, Tally, reduces.Reduces + reducer.Counters.Reduces, reduces.Errors + reducer.Counters.Errors);
            },
            cancellationToken);

    private void AddAgain(MappedChanges feed, byte[] foldedId)
    {
        if (results.MapAgain(feed, foldedId) is { } document)
            _documents.Add(document);
    }

    /// <summary>Aborts a transaction in which groups had fields that the index does not have.</summary>
    private sealed class NewFieldsException : Exception;
}
