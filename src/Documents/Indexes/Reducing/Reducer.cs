using System.Buffers.Binary;
using System.Runtime.InteropServices;
using System.Security.Cryptography;
using System.Text;
using Treepie.Computations;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.Extraction;
using Treepie.Indexes.Fields;
using Treepie.Indexes.Outputs;
using Treepie.Indexes.States;
using Treepie.Indexing;

namespace Treepie.Indexes.Reducing;

/// <summary>
/// Applies mapped documents: updates the partial results of the affected groups, and adds the results of these groups to a
/// batch as entries of the index. Not thread-safe.
/// </summary>
internal sealed class Reducer(
    IndexReduce reduce, FieldExtractor extractor, TimeProvider timeProvider, ReduceCounters counters,
    ReduceOutputs? outputs = null)
{
    /// <summary>The slot of the whole object in the stored values of entries.</summary>
    public const int ObjectSlot = 1;

    /// <summary>
    /// The prefix of the keys of entries. No document id starts with it, and errors of documents are stored under their id.
    /// </summary>
    private const byte EntryMark = 0xFE;

    private readonly ObjectAsDocument _document = new();

    /// <summary>What it has done.</summary>
    public ReduceCounters Counters => counters;

    /// <summary>See <see cref="MapBatch.NewFields"/>.</summary>
    public HashSet<DynamicField> NewFields => extractor.NewFields;

    /// <summary>Applies the last change of each document to the state, and adds the changed groups to the batch.</summary>
    /// <param name="state">The state.</param>
    /// <param name="documents">The documents.</param>
    /// <param name="batch">Receives the entries.</param>
    /// <param name="cancellationToken">Cancels the operation.</param>
    /// <param name="references">The tree of references to outputs; null if there is none.</param>
    public void Apply(
        ReduceState state, IReadOnlyCollection<MappedDocument> documents, IndexBatch batch, CancellationToken cancellationToken,
        StateTree? references = null)
    {
        ReadOnlySpan<GroupChange> changes = ApplyDocuments(state, documents, batch);
        var tree = new GroupTree(state, reduce, counters);
        while (!changes.IsEmpty)
        {
            cancellationToken.ThrowIfCancellationRequested();
            byte[] group = changes[0].Group.ToArray();
            int own = 1;
            while (own < changes.Length && changes[own].Group.SequenceEqual(group))
                own++;
            GroupNode old = tree.Find(group), now = tree.Update(group, changes[..own]);
            changes = changes[own..];
            counters.Groups++;
            PutEntries(group, old, now, batch);
            outputs?.Note(references, group, old, now);
        }
    }

    /// <summary>Adds the result of a group, an object, as its entry to the batch.</summary>
    public void PutResult(byte[] group, ReadOnlySpan<byte> json, IndexBatch batch) =>
        PutEntry(EntryKey(group, 0), json, batch);

    /// <summary>Puts and deletes mapped results; returns the changes ordered by group and place.</summary>
    private static ReadOnlySpan<GroupChange> ApplyDocuments(
        ReduceState state, IReadOnlyCollection<MappedDocument> documents, IndexBatch batch)
    {
        var mapped = new List<GroupChange>(documents.Count);
        foreach (MappedDocument document in documents.OrderBy(static one => one.Key, KeyOrder.Instance))
        {
            (bool failed, IReadOnlyList<byte[]> before) = Sources(state, document.Key);
            if (document.Error is { } error)
            {
                batch.BeginEntry(document.Key);
                batch.FailEntry(document.Label, error, document.Time);
            }
            else if (failed)
            {
                batch.Delete(document.Key);
            }

            for (int i = 0; i < Math.Max(before.Count, document.Results.Count); i++)
                AddChanges(document, i, i < before.Count ? before[i] : null, state, mapped);
            PutSources(state, document);
        }

        // Write in key order, so that each page of the tree is changed once.
        mapped.Sort(static (left, right) => left.Key.AsSpan().SequenceCompareTo(right.Key));
        foreach (GroupChange change in mapped)
            if (change.Json is { } json)
                state.Mapped.Put(change.Key, json);
            else
                state.Mapped.Delete(change.Key);
        return CollectionsMarshal.AsSpan(mapped);
    }

    /// <summary>Adds the changes of one result of a document.</summary>
    private static void AddChanges(
        MappedDocument document, int number, byte[]? before, ReduceState state, List<GroupChange> changes)
    {
        Span<byte> place = stackalloc byte[SHA256.HashSizeInBytes];
        HashPlace(document.Key, number, place);
        place = place[..GroupChange.PlaceBytes];
        MappedResult? now = number < document.Results.Count ? document.Results[number] : null;
        bool stays = before is not null && now is { } result && result.Group.AsSpan().SequenceEqual(before);
        if (before is not null && !stays)
            changes.Add(new GroupChange([.. before, .. place], -1, null));
        if (now is not { } added)
            return;

        // A change of the document that does not affect the result is skipped.
        byte[] key = [.. added.Group, .. place];
        if (stays && state.Mapped.TryGet(key, out ReadOnlySpan<byte> known) && known.SequenceEqual(added.Json))
            return;
        changes.Add(new GroupChange(key, stays ? 0 : 1, added.Json));
    }

    private static void HashPlace(byte[] document, int number, Span<byte> hash)
    {
        Span<byte> source = stackalloc byte[document.Length + sizeof(int)];
        document.CopyTo(source);
        BinaryPrimitives.WriteInt32BigEndian(source[document.Length..], number);
        SHA256.HashData(source, hash);
    }

    public static (bool Failed, IReadOnlyList<byte[]> Groups) Sources(ReduceState state, byte[] document)
    {
        if (!state.Sources.TryGet(document, out ReadOnlySpan<byte> value))
            return (false, []);
        var groups = new List<byte[]>();
        bool failed = value[0] != 0;
        for (ReadOnlySpan<byte> rest = value[1..]; !rest.IsEmpty; rest = rest[(1 + rest[0])..])
            groups.Add(rest.Slice(1, rest[0]).ToArray());
        return (failed, groups);
    }

    private static void PutSources(ReduceState state, MappedDocument document)
    {
        if (document.Results.Count == 0 && document.Error is null)
        {
            state.Sources.Delete(document.Key);
            return;
        }

        byte[] value = new byte[1 + document.Results.Sum(one => 1 + one.Group.Length)];
        value[0] = document.Error is null ? (byte)0 : (byte)1;
        int at = 1;
        foreach (MappedResult result in document.Results)
        {
            value[at++] = (byte)result.Group.Length;
            result.Group.CopyTo(value, at);
            at += result.Group.Length;
        }

        state.Sources.Put(document.Key, value);
    }

    /// <summary>Adds an entry for each object in the result of a group, usually one.</summary>
    private void PutEntries(byte[] group, GroupNode old, GroupNode now, IndexBatch batch)
    {
        for (int i = 0; i < now.Objects.Count; i++)
            PutEntry(EntryKey(group, i), now.Objects[i].Span, batch);
        for (int i = now.Objects.Count; i < Math.Max(old.Objects.Count, old.Error is null ? 0 : 1); i++)
            batch.Delete(EntryKey(group, i));
        if (now.Error is null)
            return;
        batch.BeginEntry(EntryKey(group, 0));
        batch.FailEntry("", $"The reduce of the group {Label(group)} failed: {now.Error}", timeProvider.GetUtcNow().UtcDateTime);
    }

    private void PutEntry(byte[] key, ReadOnlySpan<byte> json, IndexBatch batch)
    {
        batch.BeginEntry(key);
        batch.AddStored(ObjectSlot, extractor.ToKeep(json));
        try
        {
            extractor.Extract(_document.Of(json), batch);
        }
        catch (Exception error) when (error is FormatException or InvalidGeometryException or InvalidVectorException)
        {
            batch.EndEntry("", $"The group {Label(key.AsSpan(1))}: {error.Message}", timeProvider.GetUtcNow().UtcDateTime);
            return;
        }
        catch (Exception error) when (error is not OperationCanceledException and not OutOfMemoryException)
        {
            batch.FailEntry("", $"The group {Label(key.AsSpan(1))}: {error.Message}", timeProvider.GetUtcNow().UtcDateTime);
            return;
        }

        if (outputs?.ProblemOf(json) is { } problem)
            batch.EndEntry("", $"The group {Label(key.AsSpan(1))}: {problem}", timeProvider.GetUtcNow().UtcDateTime);
        else
            batch.EndEntry();
    }

    private static byte[] EntryKey(byte[] group, int number)
    {
        if (number == 0)
            return [EntryMark, .. group];
        byte[] key = [EntryMark, .. group, 0, 0, 0, 0];
        BinaryPrimitives.WriteInt32BigEndian(key.AsSpan(1 + group.Length), number);
        return key;
    }

    /// <summary>Returns a description of a group for messages: the values of its key, or their hash.</summary>
    public static string Label(ReadOnlySpan<byte> group) =>
        group[0] == 1 ? Encoding.UTF8.GetString(group[1..group.IndexOf((byte)0)]) : Convert.ToHexStringLower(group[1..9]);
}
