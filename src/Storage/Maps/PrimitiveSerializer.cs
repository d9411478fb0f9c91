using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Maps;

/// <summary>
/// Serializes fixed-size primitive types as they are in memory, little-endian: all integers (including 128-bit),
/// <see cref="bool"/>, <see cref="char"/>, <see cref="Half"/>, <see cref="float"/>, <see cref="double"/>, <see cref="decimal"/>,
/// <see cref="Guid"/>, <see cref="DateTime"/>, <see cref="TimeSpan"/>, <see cref="DateOnly"/>, <see cref="TimeOnly"/> and enums.
/// As keys they are equal if their bytes are equal: 0.0 and -0.0 are different keys, as are 1.0m and 1.00m, and times of
/// different kinds.
/// </summary>
/// <typeparam name="T">One of these types; any other type throws <see cref="NotSupportedException"/> when used.</typeparam>
[SuppressMessage("Design", "CA1000", Justification = "They are called through a type argument.")]
public readonly struct PrimitiveSerializer<T> : IMapSerializer<T>, IPlainSerializer
    where T : unmanaged
{
    private static readonly bool _isSupported =
        (typeof(T).IsPrimitive && typeof(T) != typeof(nint) && typeof(T) != typeof(nuint)) || typeof(T).IsEnum
        || typeof(T) == typeof(Int128)
        || typeof(T) == typeof(UInt128)
        || typeof(T) == typeof(Half)
        || typeof(T) == typeof(decimal)
        || typeof(T) == typeof(Guid)
        || typeof(T) == typeof(DateTime)
        || typeof(T) == typeof(TimeSpan)
        || typeof(T) == typeof(DateOnly)
        || typeof(T) == typeof(TimeOnly);

    /// <inheritdoc/>
    public static string Name => _isSupported
        ? $"raw {FixedBytes}"
        : throw new NotSupportedException(
            $"{typeof(T)} has no fixed form in bytes that is the same everywhere; write an IMapSerializer<{typeof(T).Name}> for "
                + $"it.");

    /// <inheritdoc/>
    public static int FixedBytes
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => RawValue.SizeOf<T>();
    }

    /// <inheritdoc/>
    public static int GetMaxBytes(T value) => FixedBytes;

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int Write(T value, Span<byte> destination)
    {
        MemoryMarshal.Write(destination, value);
        return FixedBytes;
    }

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static T Read(ReadOnlySpan<byte> source) => MemoryMarshal.Read<T>(source);
}
