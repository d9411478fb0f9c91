using Treepie.Queries.Sources;

namespace Treepie.Queries.Projecting;

/// <summary>
/// Tells apart the documents of results, as an index may have several entries of one document. Entries of a document were
/// written together, so in entry order the previous one tells whether a document is new; in any other order all are remembered,
/// up to a limit.
/// </summary>
/// <param name="isInEntryOrder">Whether results are in the order of their entries.</param>
/// <param name="most">The maximum number of documents remembered.</param>
internal sealed class DocumentsOnce(bool isInEntryOrder, int most)
{
    private readonly DistinctFilter? _all = isInEntryOrder
        ? null
        : new DistinctFilter(
            most,
            $"The query found more than {most:N0} documents in an index that has several entries of some, and each is to be "
                + $"returned once (MaxDistinctResults). Narrow the condition, leave the order out, or set "
                + "SkipDuplicateChecking.");

    private byte[] _last = [];
    private int _lastLength = -1;

    /// <summary>Returns whether the document of the current result is new.</summary>
    /// <exception cref="InvalidQueryException">There are more documents than the limit.</exception>
    public bool IsNew(ResultSource source)
    {
        ReadOnlySpan<byte> document = source.FoldedId;
        if (_all is not null)
            return _all.Add(document);
        if (_lastLength >= 0 && document.SequenceEqual(_last.AsSpan(0, _lastLength)))
            return false;
        if (_last.Length < document.Length)
            _last = new byte[document.Length * 2];
        document.CopyTo(_last);
        _lastLength = document.Length;
        return true;
    }
}
