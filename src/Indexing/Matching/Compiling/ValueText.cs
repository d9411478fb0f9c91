using System.Text;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;

namespace Treepie.Indexing.Matching.Compiling;

/// <summary>Normalizes values of a query as fields of whole values were, one after another, without allocating.</summary>
internal sealed class ValueText : IReusable
{
    private const int FirstBytes = 64, MostKeptBytes = 4_096;

    private readonly TokenBuffer _folded = new();
    private readonly byte[] _cut = new byte[TermForm.CutBytes];
    private byte[] _utf8 = new byte[FirstBytes];

    /// <summary>
    /// Returns the stored form of the term of a value other than null; valid until the next value is normalized.
    /// </summary>
    public ReadOnlySpan<byte> Form(FieldAnalysis analysis, FieldValue value)
    {
        if (value.Kind != FieldValueKind.Text)
            return WholeValue.Of(analysis, QueryValue.ToText(value), _folded, _cut);

        string text = value.Text!; // a text value has its text
        if (_utf8.Length < Encoding.UTF8.GetMaxByteCount(text.Length))
            _utf8 = new byte[Encoding.UTF8.GetMaxByteCount(text.Length)];
        return WholeValue.Of(analysis, _utf8.AsSpan(0, Encoding.UTF8.GetBytes(text, _utf8)), _folded, _cut);
    }

    /// <inheritdoc/>
    public void Clear()
    {
        _folded.Trim(MostKeptBytes);
        if (_utf8.Length > MostKeptBytes)
            _utf8 = new byte[FirstBytes];
    }
}
