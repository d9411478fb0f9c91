using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Columns;

/// <summary>Converts sort values to texts.</summary>
internal static class SortText
{
    /// <summary>Longest text of a sort value.</summary>
    public const int MaxBytes = 1_024;

    /// <summary>
    /// Copies the value of a slot as text, formatting numbers; returns its length, or -1 if there is no value.
    /// </summary>
    public static int Copy(SortChunk chunk, int slot, Span<byte> output)
    {
        switch (chunk.TagAt(slot))
        {
            case SortTag.None:
                return -1;
            case SortTag.Number:
                return NumberKey.Format(chunk.NumberAt(slot, stackalloc byte[NumberKey.Bytes]), output);
            default:
                ReadOnlySpan<byte> head = chunk.TextHeadAt(slot);
                ReadOnlySpan<byte> rest = chunk.TextRestAt(slot);
                head.CopyTo(output);
                rest.CopyTo(output[head.Length..]);
                return head.Length + rest.Length;
        }
    }
}
