namespace Treepie.Storage.Maps;

/// <summary>
/// How keys or values of a map become bytes. Implemented by a struct that is given as a type argument: the calls are resolved
/// when the map's code is compiled, none is virtual. Keys are equal where their bytes are.
/// </summary>
/// <typeparam name="T">The type of the keys or values.</typeparam>
public interface IMapSerializer<T>
{
    /// <summary>
    /// A name that stays the same as long as the bytes do. A map records it with the name of the type, and refuses to be opened
    /// with another.
    /// </summary>
    static abstract string Name { get; }

    /// <summary>How many bytes every value takes, or -1 where that differs. Must not change while the process runs.</summary>
    static abstract int FixedBytes { get; }

    /// <summary>Whether keys bring a hash of their own (<see cref="Hash"/>), which the map records.</summary>
    static virtual bool HasOwnHash => false;

    /// <summary>At most this many bytes are needed for a value; exact or above.</summary>
    /// <exception cref="ArgumentNullException">The value is null, which maps do not hold.</exception>
    static abstract int GetMaxBytes(T value);

    /// <summary>
    /// Writes a value and returns how many bytes it took. The destination has at least <see cref="GetMaxBytes"/>.
    /// </summary>
    static abstract int Write(T value, Span<byte> destination);

    /// <summary>The value that was written as these bytes. The span dies with the call.</summary>
    static abstract T Read(ReadOnlySpan<byte> source);

    /// <summary>
    /// The hash of a key's bytes: its low bits choose the bucket, its high bits the place inside it, so all 64 must depend on the
    /// key. Used only where <see cref="HasOwnHash"/> says so.
    /// </summary>
    static virtual ulong Hash(ReadOnlySpan<byte> key, ulong seed) => MapHash.Compute(key, seed);
}
