using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Matching.Compiling;

/// <summary>Values of a query as the bytes that entries were indexed with.</summary>
internal static class QueryValue
{
    /// <summary>Writes a number's key; false for NaN, which no entry has.</summary>
    public static bool TryWriteNumber(FieldValue value, Span<byte> key)
    {
        if (value.Kind == FieldValueKind.Long)
        {
            NumberKey.Write(key, value.Long);
            return true;
        }

        if (double.IsNaN(value.Double))
            return false;

        NumberKey.Write(key, value.Double);
        return true;
    }

    /// <summary>The text form of a value that is not null.</summary>
    public static byte[] ToText(FieldValue value)
    {
        switch (value.Kind)
        {
            case FieldValueKind.Text:
                return Encoding.UTF8.GetBytes(value.Text!); // a text value has its text
            case FieldValueKind.Boolean:
                return value.Boolean ? "true"u8.ToArray() : "false"u8.ToArray();
            default:
                Span<byte> key = stackalloc byte[NumberKey.Bytes];
                Span<byte> text = stackalloc byte[32];
                return TryWriteNumber(value, key) ? text[..NumberKey.Format(key, text)].ToArray() : "NaN"u8.ToArray();
        }
    }
}
