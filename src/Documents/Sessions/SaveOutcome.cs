using Treepie.Writes;

namespace Treepie.Sessions;

/// <summary>The result of a save.</summary>
/// <param name="Deleted">The entities whose documents were deleted.</param>
/// <param name="Put">The entities whose documents were stored.</param>
/// <param name="Commands">The results of the other commands.</param>
internal sealed record SaveOutcome(
    IReadOnlyList<TrackedEntity> Deleted, IReadOnlyList<TrackedEntity> Put, IReadOnlyList<WriteResult> Commands);
