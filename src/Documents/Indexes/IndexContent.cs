using System.Text;
using Treepie.Indexing;

namespace Treepie.Indexes;

/// <summary>A look at what one index holds, for people who wonder why something is found or not. Thread-safe.</summary>
public sealed class IndexContent
{
    /// <summary>Most terms that are given at once.</summary>
    public const int MaxTerms = 10_000;

    private readonly DocumentIndex _index;

    internal IndexContent(DocumentIndex index) => _index = index;

    /// <summary>Terms of a field as the index holds them, in byte order.</summary>
    /// <param name="field">The field as the index calls it: <c>Name</c>, <c>search(Name)</c>.</param>
    /// <param name="after">The term behind which to begin; null: at the first.</param>
    /// <param name="count">How many; at most <see cref="MaxTerms"/>.</param>
    /// <param name="etag">The etag up to which the index was complete.</param>
    /// <exception cref="InvalidQueryException">It has no such field.</exception>
    public IReadOnlyList<string> Terms(string field, string? after, int count, out long etag)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        using IndexSearcher searcher = Open(_index);
        try
        {
            etag = searcher.LastEtag;
            return [.. searcher.Terms(field, after, Math.Min(count, MaxTerms)).Select(term => term.Text)];
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

    /// <summary>Where the bytes of the index are, the greatest first. Reads every page of it once: for people who wonder, not for every second.</summary>
    public IReadOnlyList<IndexStructure> Structures(CancellationToken cancellationToken = default)
    {
        using IndexSearcher searcher = Open(_index);
        try
        {
            return [.. searcher.MeasureStructures(cancellationToken).Select(size => new IndexStructure(size.Structure, size.Field, size.SizeBytes, size.UsedBytes, size.Keys))];
        }
        finally
        {
            _index.Release();
        }
    }

    /// <summary>What the index holds of a document; null where it holds nothing of it.</summary>
    /// <param name="id">Id of the document, in its case.</param>
    public IReadOnlyList<IndexedValues>? Entry(string id)
    {
        ArgumentException.ThrowIfNullOrEmpty(id);
        using IndexSearcher searcher = Open(_index);
        try
        {
            return searcher.Entry(Encoding.UTF8.GetBytes(id)) is { } fields
                ? [.. fields.Select(field => new IndexedValues(field.Field, field.Terms, field.Numbers, field.HasNull))]
                : null;
        }
        finally
        {
            _index.Release();
        }
    }

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
public sealed record IndexedValues(string Field, IReadOnlyList<string> Terms, IReadOnlyList<double> Numbers, bool HasNull);

/// <summary>How much room one structure of an index takes.</summary>
/// <param name="Name">What it is: <c>terms</c>, <c>terms.postings</c>, <c>terms.positions</c>, <c>numbers</c>, <c>sort</c>, <c>entries</c>, <c>keys</c>, …</param>
/// <param name="Field">The field it is of; null for what is of none.</param>
/// <param name="SizeBytes">Bytes in the file.</param>
/// <param name="UsedBytes">Bytes of these that hold something.</param>
/// <param name="Keys">How many keys it has: terms, blocks, chunks.</param>
public sealed record IndexStructure(string Name, string? Field, long SizeBytes, long UsedBytes, long Keys);
