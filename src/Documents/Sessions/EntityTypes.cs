using System.Collections.Concurrent;

namespace Treepie.Sessions;

/// <summary>
/// The types that sessions of a set of options have met: what is known of a type is found out once. Thread-safe.
/// </summary>
internal sealed class EntityTypes(SessionOptions options)
{
    private readonly ConcurrentDictionary<Type, EntityType> _known = new();

    /// <summary>What is known of a type.</summary>
    /// <exception cref="TreepieException">Its objects would lose data; see <see cref="EntityShape"/>.</exception>
    public EntityType Of(Type type) =>
        _known.TryGetValue(type, out EntityType? known) ? known : _known.GetOrAdd(type, new EntityType(type, options));
}
