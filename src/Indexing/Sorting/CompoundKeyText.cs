using System.Buffers.Binary;
using System.Diagnostics;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Sorting;

/// <summary>
/// Keys in the tree of a <see cref="CompoundKey"/>. Their bytes order by value of equality, then sort value, then id.
/// <code>
/// SIZE     MEANING
/// 1        1 for a number, 2 for a text
/// …        the value of equality: NumberKey, or the stored form of a term, with 0 written as 0 1, ended by 0 0
/// 1 to 32  the sort value as KeyBuffer writes it in ascending order, truncated to 32 bytes
/// 8        entry id, big-endian
/// </code>
/// Entries with equal truncated sort values are adjacent; their whole sort values decide their order. The value is the key
/// of the entry, so that a walk finds it beside the hit. It is empty if it would be longer than
/// <see cref="MaxEntryKeyBytes"/>, and in trees of earlier versions; the tree of entries has the key then.
/// </summary>
internal static class CompoundKeyText
{
    /// <summary>Maximum length of a sort value; a shorter one is not truncated.</summary>
    public const int MaxOrderBytes = 32;

    /// <summary>Maximum length of the stored form of an equality value; longer values have no compound key.</summary>
    public const int MaxEqualBytes = 128;

    /// <summary>Maximum length of an entry key that is kept as a value: longer ones would fill the leaves.</summary>
    public const int MaxEntryKeyBytes = 64;

    private const byte NumberTag = 1;
    private const byte TextTag = 2;

    /// <summary>Begins a key with an equality value; false if the value is too long.</summary>
    public static bool TryBegin(KeyBuffer key, ReadOnlySpan<byte> form, bool isNumber)
    {
        key.Clear();
        if (form.Length > MaxEqualBytes)
            return false;

        key.Append(isNumber ? NumberTag : TextTag);
        key.AppendText(form);
        key.EndText();
        return true;
    }

    /// <summary>Returns the common prefix of all keys with an equality value.</summary>
    public static byte[] Prefix(ReadOnlySpan<byte> form, bool isNumber)
    {
        const int TagAndEnd = 3;
        byte[] prefix = new byte[form.Length + form.Count((byte)0) + TagAndEnd];
        int length = 0;
        prefix[length++] = isNumber ? NumberTag : TextTag;
        foreach (byte part in form)
        {
            prefix[length++] = part;
            if (part == 0)
                prefix[length++] = 1;
        }

        Debug.Assert(length + 2 == prefix.Length, "the prefix ends with 0 0");
        return prefix; // the last two bytes are 0 already
    }

    /// <summary>Appends the sort value of a slot.</summary>
    public static void AppendOrder(KeyBuffer key, SortChunk chunk, int slot, CompoundOrder order)
    {
        SortTag tag = chunk.TagAt(slot);
        if (tag == SortTag.None || (order != CompoundOrder.Text && tag != SortTag.Number))
        {
            key.Append(KeyPart.NullsFirstRank);
            return;
        }

        int start = key.Length;
        key.Append(KeyPart.ValueRank);
        switch (order)
        {
            case CompoundOrder.Double:
                key.Append(chunk.HeadAt(slot));
                break;
            case CompoundOrder.Long:
                key.Append((ulong)chunk.LongAt(slot) ^ (1UL << 63));
                break;
            default:
                Span<byte> scratch = stackalloc byte[SortText.MaxBytes];
                key.AppendText(scratch[..SortText.Copy(chunk, slot, scratch)]);
                key.EndText();
                key.CutTo(Math.Min(key.Length, start + MaxOrderBytes));
                break;
        }
    }

    /// <summary>
    /// Returns the sort value of a term of the order's dictionary, as stored in keys. Terms and their sort values have the
    /// same order.
    /// </summary>
    public static byte[] OrderOfTerm(ReadOnlySpan<byte> term, CompoundOrder order)
    {
        var key = new KeyBuffer();
        key.Append(KeyPart.ValueRank);
        switch (order)
        {
            case CompoundOrder.Double:
                key.Append(BinaryPrimitives.ReadUInt64BigEndian(term));
                break;
            case CompoundOrder.Long:
                key.Append((ulong)NumberKey.ToSaturatedLong(term) ^ (1UL << 63));
                break;
            default:
                key.AppendText(term);
                key.EndText();
                key.CutTo(Math.Min(key.Length, MaxOrderBytes));
                break;
        }

        return key.Written.ToArray();
    }

    /// <summary>
    /// Extracts the sort value, as stored in keys, from the sort key of a hit; see <see cref="KeyBuffer"/>.
    /// </summary>
    /// <exception cref="IndexQueryException">The value in the sort key has no end.</exception>
    public static byte[] OrderOf(ReadOnlySpan<byte> sortKey, SortKind kind, bool isDescending)
    {
        if (sortKey[0] != KeyPart.ValueRank)
            return [KeyPart.NullsFirstRank];

        Span<byte> order = stackalloc byte[MaxOrderBytes];
        int length = 0;
        order[length++] = KeyPart.ValueRank;
        int most = kind == SortKind.Text ? MaxOrderBytes : 1 + sizeof(ulong);
        for (bool isEnd = false, isZero = false; length < most && !isEnd;)
        {
            if (length == sortKey.Length)
                throw new IndexQueryException(
                    "The position to continue from is damaged: its value has no end. Begin with the first page again.");
            byte next = isDescending ? (byte)~sortKey[length] : sortKey[length];
            order[length++] = next;
            isEnd = kind == SortKind.Text && isZero && next == 0;
            isZero = next == 0 && !isZero;
        }

        return order[..length].ToArray();
    }

    /// <summary>
    /// Whether a sort value stored in a key is not truncated, so that entries with equal ones are equal in the order.
    /// </summary>
    public static bool IsWhole(ReadOnlySpan<byte> order) => order.Length < MaxOrderBytes;
}
