using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Matching.Compiling;

/// <summary>Converts values of a query to the bytes that entries were indexed with.</summary>
internal static class QueryValue
{
    /// <summary>Writes the key of a number; false for NaN, which is never indexed.</summary>
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

    /// <summary>Returns the text form of a value other than null.</summary>
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
