namespace Treepie.Server.Telemetry;

/// <summary>The least level that the stand-alone server logs; operators change it while the server runs. Thread-safe.</summary>
internal sealed class LogSwitch
{
    public const LogLevel AtStart = LogLevel.Warning;

    private volatile LogLevel _least = AtStart;

    public LogLevel Least
    {
        get => _least;
        set => _least = value;
    }

    public bool Lets(LogLevel level) => level >= _least;
}
