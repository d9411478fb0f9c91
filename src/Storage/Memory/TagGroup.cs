using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;

namespace Treepie.Storage.Memory;

/// <summary>A group of sixteen adjacent bytes that are compared at once: the hash fragments of a bucket.</summary>
internal static class TagGroup
{
    /// <summary>The size of a group in bytes.</summary>
    public const int Size = 16;

    /// <summary>
    /// Returns a bit for each byte of the group that equals <paramref name="tag"/>, and one for each that is zero.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static uint Match(ReadOnlySpan<byte> group, byte tag, out uint zeros)
    {
        if (!Vector128.IsHardwareAccelerated)
            return MatchScalar(group, tag, out zeros);

        if (group.Length < Size)
            ThrowShort();
        Vector128<byte> bytes = Vector128.LoadUnsafe(ref MemoryMarshal.GetReference(group));
        zeros = Vector128.Equals(bytes, Vector128<byte>.Zero).ExtractMostSignificantBits();
        return Vector128.Equals(bytes, Vector128.Create(tag)).ExtractMostSignificantBits();
    }

    /// <summary>The scalar version, for processors without vectors.</summary>
    public static uint MatchScalar(ReadOnlySpan<byte> group, byte tag, out uint zeros)
    {
        uint matches = 0;
        zeros = 0;
        for (int i = 0; i < Size; i++)
        {
            matches |= group[i] == tag ? 1u << i : 0;
            zeros |= group[i] == 0 ? 1u << i : 0;
        }

        return matches;
    }

    private static void ThrowShort() => throw new ArgumentException($"A group has {Size} bytes.");
}
