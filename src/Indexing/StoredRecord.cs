using Treepie.Indexing.Terms;

namespace Treepie.Indexing;

/// <summary>
/// What an entry keeps beside what it can be found by: bytes under numbers, which the index gives back as they were. Read in
/// place; lives until the results it comes from move on.
/// <code>
/// until the end: slot (varint), length (varint), bytes; slots ascending
/// </code>
/// </summary>
public readonly ref struct StoredRecord
{
    private readonly ReadOnlySpan<byte> _record;

    internal StoredRecord(ReadOnlySpan<byte> record) => _record = record;

    /// <summary>Whether the entry keeps nothing.</summary>
    public bool IsEmpty => _record.IsEmpty;

    /// <summary>The bytes under a number; false where there are none.</summary>
    public bool TryGet(int slot, out ReadOnlySpan<byte> value)
    {
        for (ReadOnlySpan<byte> rest = _record; !rest.IsEmpty;)
        {
            int found = Varint.Read(ref rest), length = Varint.Read(ref rest);
            if (found == slot)
            {
                value = rest[..length];
                return true;
            }

            rest = rest[length..];
        }

        value = default;
        return false;
    }
}
