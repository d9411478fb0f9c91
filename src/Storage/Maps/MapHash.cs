using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Maps;

/// <summary>
/// The hash of map keys, part of the file format. Multiplies 64 by 64 bits and combines both halves of the product by
/// exclusive or, so that every bit of the key affects every bit of the hash. Each map has a random seed, so that nobody can
/// prepare keys that collide.
/// </summary>
/// <remarks>
/// <code>
/// fold(a, b) = low half of a × b  xor  high half
/// state      = seed xor P0
///for each 16 bytes, while more than 16 remain:  state = fold(first 8 xor P1, next 8 xor state)
///a, b       = from the remaining n bytes: n ≥ 8: the first 8 and the last 8; n ≥ 4: the first 4 and the last 4;
///             n > 0: byte 0, byte n/2 and byte n-1 as one 24-bit number, and 0; otherwise 0, 0
/// hash       = fold(P1 xor length, fold(a xor P1, b xor state))
/// </code>
/// </remarks>
internal static class MapHash
{
    private const ulong P0 = 0xA0761D6478BD642F;
    private const ulong P1 = 0xE7037ED1A0B428DB;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong Compute(ReadOnlySpan<byte> key, ulong seed)
    {
        ulong state = seed ^ P0;
        if (key.Length == sizeof(ulong))
        {
            ulong word = BinaryPrimitives.ReadUInt64LittleEndian(key);
            return WideProduct.Fold(P1 ^ sizeof(ulong), WideProduct.Fold(word ^ P1, word ^ state));
        }

        return ComputeAny(key, state);
    }

    private static ulong ComputeAny(ReadOnlySpan<byte> key, ulong state)
    {
        ReadOnlySpan<byte> rest = key;
        for (; rest.Length > 16; rest = rest[16..])
            state = WideProduct.Fold(
                BinaryPrimitives.ReadUInt64LittleEndian(rest) ^ P1, BinaryPrimitives.ReadUInt64LittleEndian(rest[8..]) ^ state);

        ulong a = 0, b = 0;
        if (rest.Length >= 8)
        {
            a = BinaryPrimitives.ReadUInt64LittleEndian(rest);
            b = BinaryPrimitives.ReadUInt64LittleEndian(rest[^8..]);
        }
        else if (rest.Length >= 4)
        {
            a = BinaryPrimitives.ReadUInt32LittleEndian(rest);
            b = BinaryPrimitives.ReadUInt32LittleEndian(rest[^4..]);
        }
        else if (rest.Length > 0)
        {
            a = ((ulong)rest[0] << 16) | ((ulong)rest[rest.Length / 2] << 8) | rest[^1];
        }

        return WideProduct.Fold(P1 ^ (ulong)key.Length, WideProduct.Fold(a ^ P1, b ^ state));
    }
}
