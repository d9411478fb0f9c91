using System.Buffers.Binary;
using System.Numerics;
using System.Security.Cryptography;

namespace Treepie.Indexes.States;

/// <summary>
/// SipHash-2-4 with 128 bits (Aumasson and Bernstein, 2012). Under a random key nobody can make two texts of equal hashes, and
/// short texts cost a tenth of a SHA-256. Immutable.
/// </summary>
internal sealed class KeyedHash
{
    /// <summary>The number of bytes of a key.</summary>
    public const int KeyBytes = 16;

    private readonly ulong _first;
    private readonly ulong _second;

    /// <param name="key">The key: <see cref="KeyBytes"/> bytes.</param>
    public KeyedHash(ReadOnlySpan<byte> key)
    {
        _first = BinaryPrimitives.ReadUInt64LittleEndian(key);
        _second = BinaryPrimitives.ReadUInt64LittleEndian(key[sizeof(ulong)..]);
    }

    /// <summary>Creates a hash function with a random key.</summary>
    public static KeyedHash Random()
    {
        Span<byte> key = stackalloc byte[KeyBytes];
        RandomNumberGenerator.Fill(key);
        return new KeyedHash(key);
    }

    /// <summary>Hashes bytes.</summary>
    public UInt128 Of(ReadOnlySpan<byte> bytes)
    {
        ulong a = _first ^ 0x736f6d6570736575, b = _second ^ 0x646f72616e646f6d ^ 0xee,
            c = _first ^ 0x6c7967656e657261, d = _second ^ 0x7465646279746573;
        ulong last = (ulong)bytes.Length << 56;
        for (; bytes.Length >= sizeof(ulong); bytes = bytes[sizeof(ulong)..])
            Compress(BinaryPrimitives.ReadUInt64LittleEndian(bytes), ref a, ref b, ref c, ref d);
        for (int i = 0; i < bytes.Length; i++)
            last |= (ulong)bytes[i] << (8 * i);
        Compress(last, ref a, ref b, ref c, ref d);

        c ^= 0xee;
        ulong lower = Finish(ref a, ref b, ref c, ref d);
        b ^= 0xdd;
        return new UInt128(Finish(ref a, ref b, ref c, ref d), lower);
    }

    private static void Compress(ulong word, ref ulong a, ref ulong b, ref ulong c, ref ulong d)
    {
        d ^= word;
        Mix(ref a, ref b, ref c, ref d);
        Mix(ref a, ref b, ref c, ref d);
        a ^= word;
    }

    private static ulong Finish(ref ulong a, ref ulong b, ref ulong c, ref ulong d)
    {
        for (int i = 0; i < 4; i++)
            Mix(ref a, ref b, ref c, ref d);
        return a ^ b ^ c ^ d;
    }

    private static void Mix(ref ulong a, ref ulong b, ref ulong c, ref ulong d)
    {
        unchecked
        {
            a += b;
            b = BitOperations.RotateLeft(b, 13) ^ a;
            a = BitOperations.RotateLeft(a, 32);
            c += d;
            d = BitOperations.RotateLeft(d, 16) ^ c;
            a += d;
            d = BitOperations.RotateLeft(d, 21) ^ a;
            c += b;
            b = BitOperations.RotateLeft(b, 17) ^ c;
            c = BitOperations.RotateLeft(c, 32);
        }
    }
}
