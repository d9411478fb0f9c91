namespace Treepie.Indexes;

/// <summary>Times of a batch, as timestamps of the clock.</summary>
/// <param name="Begun">When mapping started.</param>
/// <param name="Mapped">When mapping ended.</param>
/// <param name="CommitBegun">When committing started.</param>
/// <param name="Ended">When the batch was committed.</param>
internal readonly record struct BatchTimes(long Begun, long Mapped, long CommitBegun, long Ended);
