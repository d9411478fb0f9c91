using Treepie.Indexing.Terms;

namespace Treepie.Indexing;

/// <summary>
/// The stored data of an entry: bytes by slot number, which the index returns unchanged. Read in place; valid until the results
/// from which it comes move on.
/// <code>
/// until the end: slot (varint), length (varint), bytes; slots ascending
/// </code>
/// </summary>
public readonly ref struct StoredRecord
{
    private readonly ReadOnlySpan<byte> _record;

    internal StoredRecord(ReadOnlySpan<byte> record) => _record = record;

    /// <summary>Whether nothing is stored.</summary>
    public bool IsEmpty => _record.IsEmpty;

    /// <summary>Gets the bytes of a slot; returns false if there are none.</summary>
    public bool TryGet(int slot, out ReadOnlySpan<byte> value)
    {
        for (ReadOnlySpan<byte> rest = _record; !rest.IsEmpty;)
        {
            int found = Varint.Read(ref rest);
            ReadOnlySpan<byte> bytes = RecordReader.TakeCounted(ref rest);
            if (found == slot)
            {
                value = bytes;
                return true;
            }
        }

        value = default;
        return false;
    }
}
