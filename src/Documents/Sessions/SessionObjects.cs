using System.Diagnostics.CodeAnalysis;

namespace Treepie.Sessions;

/// <summary>The objects that a session follows, by themselves and by the ids of their documents.</summary>
internal sealed class SessionObjects(int most)
{
    private readonly Dictionary<object, TrackedEntity> _byEntity = new(ReferenceEqualityComparer.Instance);
    private readonly Dictionary<string, TrackedEntity> _byId = new(IdComparer.Instance);

    public IReadOnlyCollection<TrackedEntity> All => _byEntity.Values;

    public bool TryGet(object entity, [NotNullWhen(true)] out TrackedEntity? tracked) =>
        _byEntity.TryGetValue(entity, out tracked);

    public bool TryGet(string id, [NotNullWhen(true)] out TrackedEntity? tracked) => _byId.TryGetValue(id, out tracked);

    /// <summary>Follows an object.</summary>
    /// <exception cref="InvalidOperationException">There are as many as there may be.</exception>
    public void Add(TrackedEntity tracked)
    {
        if (_byEntity.Count >= most)
        {
            throw new InvalidOperationException(
                $"The session follows {most:N0} documents, its limit (MaxTrackedDocuments). Clear it, use several sessions, or a "
                    + $"bulk insert.");
        }

        _byEntity.Add(tracked.Entity, tracked);
        if (!tracked.HasOpenId)
            _byId[tracked.Id] = tracked;
    }

    /// <summary>The save completed the id of an object.</summary>
    public void Name(TrackedEntity tracked) => _byId[tracked.Id] = tracked;

    public void Remove(TrackedEntity tracked)
    {
        _byEntity.Remove(tracked.Entity);
        if (_byId.TryGetValue(tracked.Id, out TrackedEntity? current) && ReferenceEquals(current, tracked))
            _byId.Remove(tracked.Id);
    }

    public void Clear()
    {
        _byEntity.Clear();
        _byId.Clear();
    }
}
