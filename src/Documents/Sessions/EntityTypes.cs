using System.Collections.Concurrent;
using System.Runtime.CompilerServices;

namespace Treepie.Sessions;

/// <summary>
/// The types that sessions of a database have met, for each set of options: what is known of a type is found out once.
/// Thread-safe.
/// </summary>
internal sealed class EntityTypes
{
    private readonly ConditionalWeakTable<SessionOptions, ConcurrentDictionary<Type, EntityType>> _known = [];

    /// <summary>What is known of a type.</summary>
    /// <exception cref="TreepieException">Its objects would lose data; see <see cref="EntityShape"/>.</exception>
    public EntityType Of(Type type, SessionOptions options)
    {
        ConcurrentDictionary<Type, EntityType> types = _known.GetValue(
            options, static _ => new ConcurrentDictionary<Type, EntityType>());
        return types.TryGetValue(type, out EntityType? known) ? known : types.GetOrAdd(type, new EntityType(type, options));
    }
}
