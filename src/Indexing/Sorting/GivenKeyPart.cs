using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Terms;
using SortKey = Treepie.Indexing.Queries.SortKey;

namespace Treepie.Indexing.Sorting;

/// <summary>
/// A key part from values that are given with the query, see <see cref="GivenOrder"/>. A value that is invalid for the kind (such
/// as a text as number) counts as null, as in a column.
/// </summary>
internal sealed class GivenKeyPart : KeyPart
{
    private const byte NumberMark = 1, TextMark = 2;

    private readonly GivenOrder _given;
    private readonly bool _isDescending;
    private readonly byte _nullRank;

    public GivenKeyPart(SortKey sort)
    {
        _given = sort.Given ?? throw new ArgumentException("The sort key has no values.", nameof(sort));
        _isDescending = sort.Descending;
        _nullRank = (sort.NullsFirst ?? !sort.Descending) ? NullsFirstRank : NullsLastRank;
    }

    public override void Append(long id, float score, KeyBuffer key)
    {
        FieldValue value = _given.Values.GetValueOrDefault(id);
        bool isNumber = value.Kind is FieldValueKind.Long or FieldValueKind.Double;
        bool isNull = value.Kind == FieldValueKind.Null
            || (value.Kind == FieldValueKind.Double && double.IsNaN(value.Double))
            || (_given.As is SortKind.Long or SortKind.Double && !isNumber);
        if (isNull)
        {
            key.Append(_nullRank);
            return;
        }

        key.Append(ValueRank);
        int start = key.Length;
        if (_given.As is null)
            key.Append(isNumber ? NumberMark : TextMark);
        if (_given.As == SortKind.Long)
            key.Append((ulong)LongOf(value) ^ (1UL << 63));
        else if (isNumber && _given.As is null or SortKind.Double)
            AppendNumber(value, isWhole: _given.As is null, key);
        else
            AppendText(value, key);
        if (_isDescending)
            key.Flip(start);
    }

    private static long LongOf(FieldValue value) => value.Kind == FieldValueKind.Long ? value.Long : (long)value.Double;

    /// <summary>Appends a number: its double and, if whole numbers are told apart beyond 2^53, what rounding took away.</summary>
    private static void AppendNumber(FieldValue value, bool isWhole, KeyBuffer key)
    {
        Span<byte> number = stackalloc byte[NumberKey.Bytes];
        Write(value, number);
        foreach (byte part in isWhole ? number : number[..sizeof(ulong)])
            key.Append(part);
    }

    private void AppendText(FieldValue value, KeyBuffer key)
    {
        Span<byte> spelled = stackalloc byte[NumberKey.MaxTextBytes];
        ReadOnlySpan<byte> utf8 = value.Kind switch
        {
            FieldValueKind.Text => Encoding.UTF8.GetBytes(value.Text ?? ""),
            FieldValueKind.Boolean => value.Boolean ? "true"u8 : "false"u8,
            _ => spelled[..Spell(value, spelled)],
        };
        if (_given.As == SortKind.AlphaNumeric)
            key.AppendAlphaNumeric(utf8);
        else
            key.AppendText(utf8);
        key.EndText();
    }

    /// <summary>Writes the text of a number, as it is in an index.</summary>
    private static int Spell(FieldValue value, Span<byte> text)
    {
        Span<byte> number = stackalloc byte[NumberKey.Bytes];
        Write(value, number);
        return NumberKey.Format(number, text);
    }

    private static void Write(FieldValue value, Span<byte> number)
    {
        if (value.Kind == FieldValueKind.Long)
            NumberKey.Write(number, value.Long);
        else
            NumberKey.Write(number, value.Double);
    }
}
