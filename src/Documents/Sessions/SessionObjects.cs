using System.Diagnostics.CodeAnalysis;

namespace Treepie.Sessions;

/// <summary>The objects that a session follows, by themselves and by the ids of their documents.</summary>
internal sealed class SessionObjects(int most)
{
    // Made by the first object: sessions are opened for every request.
    private Dictionary<object, TrackedEntity>? _byEntity;
    private Dictionary<string, TrackedEntity>? _byId;

    public IReadOnlyCollection<TrackedEntity> All => _byEntity is null ? [] : _byEntity.Values;

    private Dictionary<object, TrackedEntity> ByEntity => _byEntity ??= new(ReferenceEqualityComparer.Instance);

    private Dictionary<string, TrackedEntity> ById => _byId ??= new(IdComparer.Instance);

    public bool TryGet(object entity, [NotNullWhen(true)] out TrackedEntity? tracked)
    {
        tracked = null;
        return _byEntity?.TryGetValue(entity, out tracked) == true;
    }

    public bool TryGet(string id, [NotNullWhen(true)] out TrackedEntity? tracked)
    {
        tracked = null;
        return _byId?.TryGetValue(id, out tracked) == true;
    }

    /// <summary>Follows an object.</summary>
    /// <exception cref="InvalidOperationException">There are as many as there may be.</exception>
    public void Add(TrackedEntity tracked)
    {
        if (ByEntity.Count >= most)
        {
            throw new InvalidOperationException(
                $"The session follows {most:N0} documents, its limit (MaxTrackedDocuments). Clear it, use several sessions, or a "
                    + $"bulk insert.");
        }

        ByEntity.Add(tracked.Entity, tracked);
        if (!tracked.HasOpenId)
            ById[tracked.Id] = tracked;
    }

    /// <summary>The save completed the id of an object.</summary>
    public void Name(TrackedEntity tracked) => ById[tracked.Id] = tracked;

    public void Remove(TrackedEntity tracked)
    {
        ByEntity.Remove(tracked.Entity);
        if (ById.TryGetValue(tracked.Id, out TrackedEntity? current) && ReferenceEquals(current, tracked))
            ById.Remove(tracked.Id);
    }

    public void Clear()
    {
        _byEntity?.Clear();
        _byId?.Clear();
    }
}
