using System.Buffers;
using Treepie.Indexes.States;

namespace Treepie.Queries.Projecting;

/// <summary>
/// Filters out duplicates. Remembers each distinct row, up to a limit, as a keyed hash of 128 bits, so that memory does not
/// depend on row size; a collision is less likely than an undetected disk error, whoever chooses the rows.
/// </summary>
/// <param name="most">The maximum number of distinct rows.</param>
/// <param name="error">The message if there are more.</param>
internal sealed class DistinctFilter(int most, string error)
{
    private readonly HashSet<UInt128> _seen = [];
    private readonly KeyedHash _hash = KeyedHash.Random();

    private ArrayBufferWriter<byte>? _row, _canonical; // scratch buffers

    /// <summary>
    /// Returns whether a row, the members of an object as minified JSON, is new. Rows are equal if their values are, however
    /// documents spell them.
    /// </summary>
    /// <exception cref="InvalidQueryException">There are more distinct rows than the limit.</exception>
    public bool AddRow(ReadOnlySpan<byte> members)
    {
        if (CanonicalJson.IsWritten(members))
            return Add(members);
        _row ??= new ArrayBufferWriter<byte>();
        _row.ResetWrittenCount();
        _row.Write("{"u8);
        _row.Write(members);
        _row.Write("}"u8);
        return Add(Canonical(_row.WrittenSpan)[1..^1]);
    }

    /// <summary>
    /// Returns whether a value, as minified JSON, is new, if rows have only one and all are added by it.
    /// </summary>
    /// <exception cref="InvalidQueryException">There are more distinct rows than the limit.</exception>
    public bool AddValue(ReadOnlySpan<byte> value) =>
        Add(CanonicalJson.IsWritten(value) ? value : Canonical(value));

    /// <summary>Returns whether some bytes are new.</summary>
    /// <exception cref="InvalidQueryException">There are more distinct rows than the limit.</exception>
    public bool Add(ReadOnlySpan<byte> value)
    {
        if (!_seen.Add(_hash.Of(value)))
            return false;
        return _seen.Count <= most
            ? true
            : throw new InvalidQueryException(error);
    }

    private ReadOnlySpan<byte> Canonical(ReadOnlySpan<byte> json)
    {
        _canonical ??= new ArrayBufferWriter<byte>();
        _canonical.ResetWrittenCount();
        CanonicalJson.Write(json, _canonical);
        return _canonical.WrittenSpan;
    }
}
