using System.Buffers;
using Treepie.Store;

namespace Treepie.Queries;

/// <summary>
/// The answer of a query, over one snapshot of documents and index, read one result at a time: <see cref="MoveNext"/>, then
/// <see cref="WriteCurrent"/>; nothing is held in memory that was not asked for. Must be disposed. One thread at a time.
/// </summary>
public sealed class QueryResults : IDisposable
{
    internal QueryResults()
    {
    }

    /// <summary>Matches before paging.</summary>
    public long TotalResults => throw new NotImplementedException();

    /// <summary>Duplicates left out by <c>distinct</c> so far.</summary>
    public long SkippedResults => throw new NotImplementedException();

    /// <summary>The index that answered: a name, or <c>collection/Users</c>, or <c>AllDocs</c>.</summary>
    public string IndexName => throw new NotImplementedException();

    /// <summary>Whether the index had not seen every document of this snapshot.</summary>
    public bool IsStale => throw new NotImplementedException();

    /// <summary>Etag of the answer: the same for the same answer.</summary>
    public long ResultEtag => throw new NotImplementedException();

    /// <summary>Time of the index's last batch (UTC).</summary>
    public DateTime IndexTimestamp => throw new NotImplementedException();

    /// <summary>Time spent so far.</summary>
    public TimeSpan Duration => throw new NotImplementedException();

    /// <summary>Paths of the <c>include</c> clause.</summary>
    public IReadOnlyList<string> IncludedPaths => throw new NotImplementedException();

    /// <summary>Goes to the next result; false after the last.</summary>
    public bool MoveNext() => throw new NotImplementedException();

    /// <summary>Whether the current result is a projection, not a whole document.</summary>
    public bool IsProjection => throw new NotImplementedException();

    /// <summary>The document of the current result.</summary>
    public Document Current => throw new NotImplementedException();

    /// <summary>Writes the current result as one JSON object with <c>@metadata</c>.</summary>
    public void WriteCurrent(IBufferWriter<byte> output) => throw new NotImplementedException();

    /// <summary>After the last result: writes <c>{"id":document,…}</c> of everything included by the results seen.</summary>
    public void WriteIncludes(IBufferWriter<byte> output) => throw new NotImplementedException();

    /// <inheritdoc/>
    public void Dispose() => throw new NotImplementedException();
}
