namespace Treepie.Sessions;

/// <summary>Interprets times passed to sessions.</summary>
internal static class SessionTime
{
    /// <summary>Converts a time to UTC: local times are converted, times of unspecified kind are considered UTC.</summary>
    public static DateTime Utc(DateTime time) =>
        time.Kind == DateTimeKind.Local ? time.ToUniversalTime() : DateTime.SpecifyKind(time, DateTimeKind.Utc);

    /// <summary>Same as above; null stays null.</summary>
    public static DateTime? Utc(DateTime? time) => time is { } given ? Utc(given) : null;
}
