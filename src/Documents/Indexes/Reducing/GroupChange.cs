using System.Buffers.Binary;

namespace Treepie.Indexes.Reducing;

/// <summary>A mapped result that was added, removed or changed.</summary>
/// <param name="Key">The key of its group, followed by its place, as in the state.</param>
/// <param name="Delta">1 if it was added, -1 if removed, 0 if changed.</param>
/// <param name="Json">The new result; null if it was removed.</param>
internal readonly record struct GroupChange(byte[] Key, int Delta, byte[]? Json)
{
    public const int PlaceBytes = 16;

    /// <summary>The key of its group.</summary>
    public ReadOnlySpan<byte> Group => Key.AsSpan(0, Key.Length - PlaceBytes);

    /// <summary>The first half of the place, which determines the nodes it belongs to.</summary>
    public ulong Prefix => BinaryPrimitives.ReadUInt64BigEndian(Key.AsSpan(Key.Length - PlaceBytes));
}
