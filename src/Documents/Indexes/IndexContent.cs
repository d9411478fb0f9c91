using System.Text;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.Reducing;
using Treepie.Indexing;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Store;

namespace Treepie.Indexes;

/// <summary>A look at what one index holds, for people who wonder why something is found or not. Thread-safe.</summary>
public sealed class IndexContent
{
    /// <summary>Most terms that are given at once.</summary>
    public const int MaxTerms = 10_000;

    private readonly DocumentIndex _index;
    private readonly Func<DatabaseSnapshot>? _beginRead;
    private readonly TimeProvider _timeProvider;

    /// <param name="index">The index.</param>
    /// <param name="timeProvider">The clock.</param>
    /// <param name="beginRead">Given, what the index has not seen of the documents is looked at too.</param>
    internal IndexContent(DocumentIndex index, TimeProvider timeProvider, Func<DatabaseSnapshot>? beginRead)
    {
        _index = index;
        _timeProvider = timeProvider;
        _beginRead = beginRead;
    }

    /// <summary>Terms of a field as the index holds them, in byte order.</summary>
    /// <param name="field">The field as the definition calls it, or the index inside: <c>Name</c>, <c>search(Name)</c>. Where a
    /// field keeps words and whole values, <c>Name</c> is the values.</param>
    /// <param name="after">The term behind which to begin; null: at the first.</param>
    /// <param name="count">How many; at most <see cref="MaxTerms"/>.</param>
    /// <param name="etag">The etag up to which they are complete.</param>
    /// <exception cref="InvalidQueryException">It has no such field.</exception>
    /// <exception cref="TimeoutException">It was to be never stale, and the index is too far behind, or is being given the
    /// field.</exception>
    public IReadOnlyList<string> Terms(string field, string? after, int count, out long etag)
    {
        ArgumentNullException.ThrowIfNull(field);
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        int most = Math.Min(count, MaxTerms);
        if (_index.Definition.Schema.IndexOf(field) < 0 && _index.Definition is StaticIndexMapping mapping)
            field = mapping.Resolve(new AutoIndexField(field))?.SchemaName ?? field;
        (IReadOnlyList<IndexTerm> terms, etag) = Look((searcher, tail, upTo) =>
        {
            if (tail is not null && searcher.Schema.IndexOf(field) >= 0 && !searcher.IsComplete(field))
                throw TooFarBehind();
            return (tail is null ? searcher.Terms(field, after, most) : searcher.Terms(field, after, most, tail), upTo);
        });
        return [.. terms.Select(term => term.Text)];
    }

    /// <summary>
    /// Where the bytes of the index are, the greatest first. Reads every page of it once: for people who wonder, not for every
    /// second.
    /// </summary>
    public IReadOnlyList<IndexStructure> Structures(CancellationToken cancellationToken = default)
    {
        using IndexSearcher searcher = Open(_index);
        try
        {
            return [
                .. searcher.MeasureStructures(cancellationToken)
                    .Select(size => new IndexStructure(size.Structure, size.Field, size.SizeBytes, size.UsedBytes, size.Keys))];
        }
        finally
        {
            _index.Release();
        }
    }

    /// <summary>What the index holds of a document; null where it holds nothing of it.</summary>
    /// <param name="id">Id of the document, in any case.</param>
    /// <exception cref="TimeoutException">It was to be never stale, and the index is too far behind.</exception>
    public IReadOnlyList<IndexedValues>? Entry(string id)
    {
        ArgumentException.ThrowIfNullOrEmpty(id);
        byte[] key = new byte[DocumentId.MaxFoldedBytes];
        if (!DocumentId.TryFold(id, key, out int length))
            return null;
        IReadOnlyList<IndexEntryField>? fields = Look(
            (searcher, tail, _) => tail is null
                ? searcher.Entry(key.AsSpan(0, length))
                : searcher.Entry(key.AsSpan(0, length), tail));
        return fields is null
            ? null
            : [
                .. fields.Select(
                    field => new IndexedValues(field.Field, field.Terms, field.Numbers, field.HasNull)
                    {
                        Positions = field.Positions,
                        Places = field.Places,
                        Vectors = field.Vectors
                    })];
    }

    /// <summary>Ids of the documents that groups are made of, folded, in byte order.</summary>
    /// <param name="prefix">With what they begin, in any case.</param>
    /// <param name="after">The id behind which to begin; null: at the first.</param>
    /// <param name="count">How many; at most <see cref="MaxTerms"/>.</param>
    /// <exception cref="NotSupportedException">Its entries are no groups of documents.</exception>
    public IReadOnlyList<string> Sources(string prefix, string? after, int count)
    {
        ArgumentNullException.ThrowIfNull(prefix);
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        if (_index.Definition.Reduction is null || _index.Definition.Source != IndexSourceType.Documents)
            throw new NotSupportedException($"The entries of the index '{_index.Name}' are no groups of documents.");
        byte[] first = CollectionName.Fold(Encoding.UTF8.GetBytes(prefix));
        byte[] from = after is null ? first : [.. CollectionName.Fold(Encoding.UTF8.GetBytes(after)), 0];
        var ids = new List<string>();
        if (!_index.TryHold())
            throw new IndexNotFoundException(_index.Name);
        try
        {
            using ReadTransaction read = _index.Store.BeginRead();
            using Cursor? cursor = read.FindTree(ReduceState.SourcesName)?.OpenCursor();
            if (cursor is null)
                return ids;
            bool isMore = cursor.Seek(first.AsSpan().SequenceCompareTo(from) > 0 ? first : from);
            for (; isMore && ids.Count < Math.Min(count, MaxTerms) && cursor.Key.StartsWith(first); isMore = cursor.MoveNext())
                if (cursor.Value.Length > 1) // it has groups
                    ids.Add(Encoding.UTF8.GetString(cursor.Key));
            return ids;
        }
        finally
        {
            _index.Release();
        }
    }

    /// <summary>Looks at one view of the index, with what it has not seen where that is wanted.</summary>
    private T Look<T>(Func<IndexSearcher, IndexTail?, long, T> look)
    {
        IndexSearcher searcher = Open(_index);
        try
        {
            using (searcher)
            {
                if (_beginRead is null)
                    return look(searcher, null, searcher.LastEtag);
                using DatabaseSnapshot snapshot = _beginRead(); // after the view: then the index knows nothing that it does not
                using IndexTail tail = _index.TryBuildTail(searcher, snapshot, _timeProvider, out _, CancellationToken.None)
                    ?? throw TooFarBehind();
                return look(searcher, tail, snapshot.LastEtag);
            }
        }
        catch (UnknownFieldException error)
        {
            throw new InvalidQueryException(error.Message);
        }
        finally
        {
            _index.Release();
        }
    }

    private TimeoutException TooFarBehind() => new(
        $"The index '{_index.Name}' is more than {DocumentIndex.MaxTailChanges:N0} changes behind or being built, which is too "
            + $"much to be looked at in passing (neverStale). Ask again, or ask without it.");

    /// <summary>Holds the index and opens it; whoever calls releases it.</summary>
    private static IndexSearcher Open(DocumentIndex index)
    {
        if (!index.TryHold())
            throw new IndexNotFoundException(index.Name);
        try
        {
            return index.OpenSearcher();
        }
        catch
        {
            index.Release();
            throw;
        }
    }
}

/// <summary>What an index holds of one document in one field.</summary>
/// <param name="Field">The field.</param>
/// <param name="Terms">Terms, numbers among them as text.</param>
/// <param name="Numbers">Numbers.</param>
/// <param name="HasNull">Whether there is an explicit null.</param>
public sealed record IndexedValues(string Field, IReadOnlyList<string> Terms, IReadOnlyList<double> Numbers, bool HasNull)
{
    /// <summary>
    /// Of a field of words: where each of the terms stands, counted from 0, ascending; as many as there are terms. Empty for
    /// other fields.
    /// </summary>
    public IReadOnlyList<IReadOnlyList<int>> Positions { get; init; } = [];

    /// <summary>Of a field of places: points and shapes as WKT, as the index keeps them (points to 7 decimals).</summary>
    public IReadOnlyList<string> Places { get; init; } = [];

    /// <summary>
    /// Of a field of vectors: the vectors as the index keeps them: all numbers, or where it keeps a byte for each, what these
    /// stand for.
    /// </summary>
    public IReadOnlyList<IReadOnlyList<float>> Vectors { get; init; } = [];
}

/// <summary>How much room one structure of an index takes.</summary>
/// <param name="Name">What it is: <c>terms</c>, <c>terms.postings</c>, <c>terms.positions</c>, <c>numbers</c>, <c>sort</c>,
/// <c>entries</c>, <c>keys</c>, …</param>
/// <param name="Field">The field it is of; null for what is of none.</param>
/// <param name="SizeBytes">Bytes in the file.</param>
/// <param name="UsedBytes">Bytes of these that hold something.</param>
/// <param name="Keys">How many keys it has: terms, blocks, chunks.</param>
public sealed record IndexStructure(string Name, string? Field, long SizeBytes, long UsedBytes, long Keys);
