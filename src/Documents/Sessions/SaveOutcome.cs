using Treepie.Writes;

namespace Treepie.Sessions;

/// <summary>What a save wrote.</summary>
/// <param name="Deleted">Objects whose documents it deleted.</param>
/// <param name="Put">Objects whose documents it put.</param>
/// <param name="Commands">What the commands behind the documents did.</param>
internal sealed record SaveOutcome(
    IReadOnlyList<TrackedEntity> Deleted, IReadOnlyList<TrackedEntity> Put, IReadOnlyList<WriteResult> Commands);
