using Treepie.Storage;

namespace Treepie.Indexing.Terms;

/// <summary>
/// Reads parts of a record whose sizes are in the record itself. A part that is larger than the rest of the record is reported as
/// damage, before anything is allocated for it.
/// </summary>
internal static class RecordReader
{
    /// <summary>Returns the next bytes and moves the span past them.</summary>
    /// <exception cref="CorruptionException">The record is shorter, or the length is negative.</exception>
    public static ReadOnlySpan<byte> Take(scoped ref ReadOnlySpan<byte> record, int bytes)
    {
        if ((uint)bytes > (uint)record.Length)
            throw Damaged($"has {record.Length} bytes left where {bytes} are needed");
        ReadOnlySpan<byte> taken = record[..bytes];
        record = record[bytes..];
        return taken;
    }

    /// <summary>Reads bytes that follow their length, a varint.</summary>
    /// <exception cref="CorruptionException">The record is shorter.</exception>
    public static ReadOnlySpan<byte> TakeCounted(scoped ref ReadOnlySpan<byte> record) =>
        Take(ref record, Varint.Read(ref record));

    /// <summary>Reads the number of items that follow, a varint.</summary>
    /// <param name="record">The rest of the record.</param>
    /// <param name="leastBytes">The minimum length of an item.</param>
    /// <exception cref="CorruptionException">The record is too short for that many.</exception>
    public static int Count(scoped ref ReadOnlySpan<byte> record, int leastBytes)
    {
        int count = Varint.Read(ref record);
        if (count < 0 || (long)count * leastBytes > record.Length)
            throw Damaged($"counts {count} items of {leastBytes} bytes or more, but has {record.Length} bytes left");
        return count;
    }

    /// <summary>The exception for a record that cannot be read.</summary>
    /// <param name="problem">What is wrong, after "A record of the index".</param>
    public static CorruptionException Damaged(string problem) =>
        new($"A record of the index {problem}. Reset the index to build it again.");
}
