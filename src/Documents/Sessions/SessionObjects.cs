using System.Diagnostics.CodeAnalysis;

namespace Treepie.Sessions;

/// <summary>The entities that a session tracks, by reference and by document id.</summary>
internal sealed class SessionObjects(int most)
{
    // Sessions are opened for every request, and many track one entity: the dictionaries are created for the second one.
    private TrackedEntity? _single;
    private Dictionary<object, TrackedEntity>? _byEntity;
    private Dictionary<string, TrackedEntity>? _byId;

    public IReadOnlyCollection<TrackedEntity> All =>
        _byEntity is not null ? _byEntity.Values : _single is not null ? [_single] : [];

    public bool TryGet(object entity, [NotNullWhen(true)] out TrackedEntity? tracked)
    {
        if (_byEntity is not null)
            return _byEntity.TryGetValue(entity, out tracked);
        tracked = ReferenceEquals(_single?.Entity, entity) ? _single : null;
        return tracked is not null;
    }

    public bool TryGet(string id, [NotNullWhen(true)] out TrackedEntity? tracked)
    {
        if (_byId is not null)
            return _byId.TryGetValue(id, out tracked);
        tracked = _single is { HasOpenId: false } && IdComparer.Instance.Equals(_single.Id, id) ? _single : null;
        return tracked is not null;
    }

    /// <summary>Checks that no other entity, unless it is deleted, has the id of an entity.</summary>
    /// <exception cref="InvalidOperationException">Another one has it.</exception>
    public void RequireFree(TrackedEntity tracked)
    {
        if (!tracked.HasOpenId && TryGet(tracked.Id, out TrackedEntity? other) && other != tracked && !other.IsDeleted)
            throw new InvalidOperationException(
                $"Another object is stored in this session as '{tracked.Id}'. Change that one, or evict it first.");
    }

    /// <summary>Tracks an entity.</summary>
    /// <exception cref="InvalidOperationException">The maximum number of entities is reached.</exception>
    public void Add(TrackedEntity tracked)
    {
        int count = _byEntity?.Count ?? (_single is null ? 0 : 1);
        if (count >= most)
        {
            throw new InvalidOperationException(
                $"The session follows {most:N0} documents, its limit (MaxTrackedDocuments). Clear it, use several sessions, or a "
                    + $"bulk insert.");
        }

        if (_byEntity is null && _single is null)
        {
            _single = tracked;
            return;
        }

        if (_byEntity is null || _byId is null)
        {
            _byEntity = new(ReferenceEqualityComparer.Instance);
            _byId = new(IdComparer.Instance);
            Enter(_byEntity, _byId, _single);
            _single = null;
        }

        Enter(_byEntity, _byId, tracked);
    }

    /// <summary>
    /// Called when the save has stored an entity and completed its id: the deleted one whose id it took over is gone.
    /// </summary>
    public void Name(TrackedEntity tracked)
    {
        tracked.Hidden = null;
        if (_byId is not null)
            _byId[tracked.Id] = tracked;
    }

    public void Remove(TrackedEntity tracked)
    {
        if (ReferenceEquals(_single, tracked))
            _single = null;
        _byEntity?.Remove(tracked.Entity);
        if (_byId is null || !_byId.TryGetValue(tracked.Id, out TrackedEntity? current) || !ReferenceEquals(current, tracked))
            return;
        if (tracked.Hidden is { } hidden && ReferenceEquals(_byEntity?.GetValueOrDefault(hidden.Entity), hidden))
            _byId[tracked.Id] = hidden;
        else
            _byId.Remove(tracked.Id);
    }

    public void Clear() => (_single, _byEntity, _byId) = (null, null, null);

    private static void Enter(
        Dictionary<object, TrackedEntity> byEntity, Dictionary<string, TrackedEntity> byId, TrackedEntity? tracked)
    {
        if (tracked is null)
            return;
        byEntity.Add(tracked.Entity, tracked);
        if (tracked.HasOpenId)
            return;
        tracked.Hidden = byId.GetValueOrDefault(tracked.Id);
        byId[tracked.Id] = tracked;
    }
}
