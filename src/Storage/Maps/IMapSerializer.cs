namespace Treepie.Storage.Maps;

/// <summary>
/// Serializes keys or values of a map. Implemented by a struct that is passed as a type argument, so that its calls are not
/// virtual. Keys are equal if their bytes are equal.
/// </summary>
/// <typeparam name="T">The type of the keys or values.</typeparam>
public interface IMapSerializer<T>
{
    /// <summary>
    /// A name that identifies the binary format. A map records it with the name of the type, and cannot be opened with another.
    /// </summary>
    static abstract string Name { get; }

    /// <summary>
    /// The length of every serialized value in bytes, or -1 if it varies. Must not change while the process runs.
    /// </summary>
    static abstract int FixedBytes { get; }

    /// <summary>Whether the serializer provides its own hash function (<see cref="Hash"/>), which the map records.</summary>
    static virtual bool HasOwnHash => false;

    /// <summary>Returns an upper bound of the serialized length of a value in bytes.</summary>
    /// <exception cref="ArgumentNullException">The value is null, which is not supported.</exception>
    static abstract int GetMaxBytes(T value);

    /// <summary>
    /// Writes a value and returns its length in bytes. The destination has at least <see cref="GetMaxBytes"/> bytes.
    /// </summary>
    static abstract int Write(T value, Span<byte> destination);

    /// <summary>Reads a value from its bytes. The span is valid only during the call.</summary>
    static abstract T Read(ReadOnlySpan<byte> source);

    /// <summary>
    /// Returns the hash of a key's bytes: its low bits select the bucket, its high bits the position inside it, so all 64 bits
    /// must depend on the key. Used only if <see cref="HasOwnHash"/> is true.
    /// </summary>
    static virtual ulong Hash(ReadOnlySpan<byte> key, ulong seed) => MapHash.Compute(key, seed);
}
