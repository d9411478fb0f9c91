namespace Treepie.Sessions;

/// <summary>What sessions take times of their callers for.</summary>
internal static class SessionTime
{
    /// <summary>The moment a time means in UTC: local times are converted, times that do not say are UTC already.</summary>
    public static DateTime Utc(DateTime time) =>
        time.Kind == DateTimeKind.Local ? time.ToUniversalTime() : DateTime.SpecifyKind(time, DateTimeKind.Utc);

    /// <summary>The same; null stays null.</summary>
    public static DateTime? Utc(DateTime? time) => time is { } given ? Utc(given) : null;
}
