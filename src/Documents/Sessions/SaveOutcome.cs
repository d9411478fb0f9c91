namespace Treepie.Sessions;

/// <summary>What a save wrote.</summary>
internal sealed record SaveOutcome(IReadOnlyList<TrackedEntity> Deleted, IReadOnlyList<TrackedEntity> Put);
