namespace Treepie.Indexes;

/// <summary>Moments of a batch, by the clock's timestamp.</summary>
/// <param name="Begun">Mapping was begun.</param>
/// <param name="Mapped">Mapping had ended.</param>
/// <param name="CommitBegun">Committing was begun.</param>
/// <param name="Ended">It was committed.</param>
internal readonly record struct BatchTimes(long Begun, long Mapped, long CommitBegun, long Ended);
