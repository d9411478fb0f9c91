using System.Text;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.Outputs;
using Treepie.Indexes.Reducing;
using Treepie.Indexes.States;
using Treepie.Indexing;
using Treepie.Storage.Trees;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Indexes;

/// <summary>
/// Synchronizes the output documents of an index with its groups. Each is written with the change vector that was read, so
/// that no document changed concurrently, or not created by an index, is overwritten or deleted.
/// </summary>
internal sealed class OutputWriter(DocumentIndex index, ReduceOutputs outputs, IndexingContext context)
{
    private const int MostOfStep = 512, MostAttempts = 64;

    /// <summary>The size of documents in bytes above which a step ends.</summary>
    private const long BytesOfStep = 4 << 20;

    private const string NotMade = "is a document that no index has made. Rename or delete it, and reset the index.";

    private OutputTarget Target => outputs.Target;

    /// <summary>Writes everything that has changed since the last call; all outputs at the first call.</summary>
    public async Task WriteAsync(CancellationToken stop)
    {
        // One index at a time: an index that has been replaced has stopped or no longer writes.
        await context.OutputTurn.WaitAsync(stop).ConfigureAwait(false);
        try
        {
            stop.ThrowIfCancellationRequested();
            if (outputs.IsAll)
            {
                await WriteAllAsync(stop).ConfigureAwait(false);
            }
            else
            {
                await WriteAsync([.. outputs.Groups], WriteGroup, stop).ConfigureAwait(false);
                await WriteAsync([.. outputs.References], WriteReference, stop).ConfigureAwait(false);
            }

            outputs.Written();
        }
        finally
        {
            context.OutputTurn.Release();
        }
    }

    private async Task WriteAllAsync(CancellationToken stop)
    {
        byte[]? after = [];
        for (List<byte[]> keys; after is not null;)
        {
            (keys, after) = NextKeys(ReduceState.GroupsName, after, ReduceState.GroupOf, byte.MaxValue);
            await WriteAsync([.. keys.Select(key => KeyValuePair.Create(key, 0))], WriteGroup, stop).ConfigureAwait(false);
        }

        after = [];
        for (List<byte[]> keys; after is not null && Target.Pattern is not null;)
        {
            (keys, after) = NextKeys(ReduceOutputs.ReferencesTree, after, ReduceOutputs.ReferenceOf, 1);
            await WriteAsync(keys, WriteReference, stop).ConfigureAwait(false);
        }

        await DeleteOthersAsync(Target.Collection, IsOutput, stop).ConfigureAwait(false);
        if (Target.Pattern is not null)
            await DeleteOthersAsync(Target.ReferencesCollection, IsReference, stop).ConfigureAwait(false);
    }

    private delegate ReadOnlySpan<byte> StartOf(ReadOnlySpan<byte> key);

    /// <summary>
    /// Returns the distinct prefixes of the keys of a tree from a given one, and the prefix to continue with, or null after
    /// the last.
    /// </summary>
    /// <param name="name">The name of the tree.</param>
    /// <param name="after">The first prefix.</param>
    /// <param name="startOf">Returns the prefix of a key.</param>
    /// <param name="behind">A byte greater than the one after the prefix in its keys, and less than that in the keys of
    /// longer prefixes.</param>
    private (List<byte[]> Keys, byte[]? After) NextKeys(string name, byte[] after, StartOf startOf, byte behind)
    {
        var keys = new List<byte[]>();
        using IndexSearcher searcher = index.OpenSearcher();
        using Cursor? cursor = searcher.FindTree(name)?.OpenCursor();
        for (bool more = cursor?.Seek(after) == true; more;)
        {
            byte[] key = startOf(cursor!.Key).ToArray(); // the cursor is at a key, so it is not null
            if (keys.Count == MostOfStep)
                return (keys, key);
            keys.Add(key);
            more = cursor.Seek([.. key, behind]);
        }

        return (keys, null);
    }

    private async Task WriteAsync<T>(
        IReadOnlyList<T> items, Action<T, DatabaseSnapshot, IndexSearcher, WriteBatch> write, CancellationToken stop)
    {
        for (int done = 0, attempts = 0; done < items.Count;)
        {
            stop.ThrowIfCancellationRequested();
            using var batch = new WriteBatch { SkipUnchanged = true };
            int end = done;
            using (DatabaseSnapshot snapshot = context.BeginRead())
            using (IndexSearcher searcher = index.OpenSearcher())
                for (; end < items.Count && batch.Count < MostOfStep && batch.SizeBytes < BytesOfStep; end++)
                    write(items[end], snapshot, searcher, batch);
            (done, attempts) = await TryWriteAsync(batch, attempts, stop).ConfigureAwait(false) ? (end, 0) : (done, attempts + 1);
        }
    }

    /// <summary>Returns false if a document was changed concurrently.</summary>
    private async Task<bool> TryWriteAsync(WriteBatch batch, int attempts, CancellationToken stop)
    {
        try
        {
            if (batch.Count > 0 && context.Write is { } write)
                await write(batch, stop).ConfigureAwait(false);
            return true;
        }
        catch (ConcurrencyException) when (attempts < MostAttempts)
        {
            return false;
        }
    }

    private void WriteGroup(KeyValuePair<byte[], int> group, DatabaseSnapshot snapshot, IndexSearcher searcher, WriteBatch batch)
    {
        IReadOnlyList<ReadOnlyMemory<byte>> results = ResultsOf(group.Key, searcher);
        for (int i = 0; i < Math.Max(results.Count, group.Value); i++)
        {
            string id = OutputDocument.IdOf(Target.Collection, group.Key, i);
            if (i < results.Count)
                Put(id, OutputDocument.OfResult(results[i].Span, Target.Collection), snapshot, batch);
            else
                Delete(id, snapshot, batch);
        }
    }

    private void WriteReference(byte[] folded, DatabaseSnapshot snapshot, IndexSearcher searcher, WriteBatch batch)
    {
        var listed = new List<string>();
        string? id = null;
        byte[] prefix = [.. folded, 0];
        using Cursor? cursor = searcher.FindTree(ReduceOutputs.ReferencesTree)?.OpenCursor();
        for (bool more = cursor?.Seek(prefix) == true; more && cursor!.Key.StartsWith(prefix); more = cursor.MoveNext())
        {
            id ??= Encoding.UTF8.GetString(cursor.Value);
            if (listed.Count == ReduceOutputs.MostOfReference)
            {
                outputs.Refuse(
                    id, $"would refer to more than {ReduceOutputs.MostOfReference:N0} outputs: make its pattern finer.");
                return;
            }

            listed.Add(outputs.OutputOf(cursor.Key));
        }

        if (id is null)
            Delete(Encoding.UTF8.GetString(folded), snapshot, batch);
        else
            Put(id, OutputDocument.OfReferences(listed, Target.ReferencesCollection), snapshot, batch);
    }

    private void Put(string id, byte[] json, DatabaseSnapshot snapshot, WriteBatch batch)
    {
        bool isThere = snapshot.TryGet(id, out Document document);
        string? refusal = isThere && !OutputDocument.IsOutput(document) ? NotMade : null;
        try
        {
            if (refusal is null)
                batch.Put(id, json, isThere ? document.ChangeVector : "");
        }
        catch (InvalidDocumentException error)
        {
            refusal = $"cannot be one: {error.Message}";
        }

        outputs.Refuse(id, refusal);
    }

    private void Delete(string id, DatabaseSnapshot snapshot, WriteBatch batch)
    {
        outputs.Refuse(id, null);
        if (snapshot.TryGet(id, out Document document) && OutputDocument.IsOutput(document))
            batch.Delete(id, document.ChangeVector);
    }

    private delegate bool Predicate(Document document, IndexSearcher searcher);

    /// <summary>Deletes documents in a collection that were created by indexes but not by this one.</summary>
    private async Task DeleteOthersAsync(string collection, Predicate isWanted, CancellationToken stop)
    {
        long reached = 0;
        for (bool more = true; more; stop.ThrowIfCancellationRequested())
        {
            var ids = new List<string>();
            using (DatabaseSnapshot snapshot = context.BeginRead())
            using (IndexSearcher searcher = index.OpenSearcher())
            using (ChangeFeed feed = snapshot.Changes(collection, reached))
            {
                for (more = feed.MoveNext(); more && ids.Count < MostOfStep; more = feed.MoveNext())
                {
                    reached = feed.Etag;
                    if (!feed.IsTombstone && OutputDocument.IsOutput(feed.Document) && !isWanted(feed.Document, searcher))
                        ids.Add(feed.Document.IdText());
                    snapshot.ReleasePages();
                }
            }

            await WriteAsync(ids, (id, snapshot, _, batch) => Delete(id, snapshot, batch), stop).ConfigureAwait(false);
        }
    }

    private bool IsOutput(Document document, IndexSearcher searcher)
    {
        // It has the fields of its result, which determine its group.
        byte[] group = ReduceKey.Of(document.Body, index.Definition.Reduction?.Reduce.Keys ?? []);
        byte[] id = OutputDocument.Folded(document.IdText());
        int count = ResultsOf(group, searcher).Count;
        for (int i = 0; i < count; i++)
            if (OutputDocument.Folded(OutputDocument.IdOf(Target.Collection, group, i)).AsSpan().SequenceEqual(id))
                return true;
        return false;
    }

    private static bool IsReference(Document document, IndexSearcher searcher)
    {
        byte[] prefix = [.. OutputDocument.Folded(document.IdText()), 0];
        using Cursor? cursor = searcher.FindTree(ReduceOutputs.ReferencesTree)?.OpenCursor();
        return cursor?.Seek(prefix) == true && cursor.Key.StartsWith(prefix);
    }

    private static IReadOnlyList<ReadOnlyMemory<byte>> ResultsOf(byte[] group, IndexSearcher searcher) =>
        searcher.FindTree(ReduceState.GroupsName) is { } tree
            && tree.TryGet(ReduceState.RootKey(group), out ReadOnlySpan<byte> node)
            ? GroupNode.Read(node).Objects
            : [];
}
