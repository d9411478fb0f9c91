using System.Collections.Concurrent;

namespace Treepie.Sessions;

/// <summary>
/// Caches information about the types used by sessions with the same options. Thread-safe.
/// </summary>
internal sealed class EntityTypes(SessionOptions options)
{
    private readonly ConcurrentDictionary<Type, EntityType> _known = new();

    /// <summary>Returns the information about a type.</summary>
    /// <exception cref="TreepieException">Its entities would lose data; see <see cref="EntityShape"/>.</exception>
    public EntityType Of(Type type) =>
        _known.TryGetValue(type, out EntityType? known) ? known : _known.GetOrAdd(type, new EntityType(type, options));
}
