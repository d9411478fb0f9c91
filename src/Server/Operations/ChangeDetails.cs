using System.Buffers;
using System.Text.Json;
using Treepie.Writes;

namespace Treepie.Server.Operations;

/// <summary>
/// What a change by query did to each document, stored as JSON up to a maximum size; documents beyond it are only counted.
/// Thread-safe.
/// </summary>
internal sealed class ChangeDetails
{
    /// <summary>The maximum size in bytes: about 25,000 documents with ids of typical length.</summary>
    public const int MaxBytes = 4 << 20;

    private readonly Lock _sync = new();
    private ArrayBufferWriter<byte> _json = new();
    private long _omitted;
    private long _count;
    private bool _isForgotten;

    /// <summary>Adds the results of a batch.</summary>
    public void Add(IReadOnlyList<WriteResult> results)
    {
        lock (_sync)
        {
            foreach (WriteResult result in results)
            {
                if (_isForgotten || _json.WrittenCount >= MaxBytes)
                {
                    _omitted++;
                    continue;
                }

                _json.Write(_count++ == 0 ? ""u8 : ","u8);
                using var json = new Utf8JsonWriter(_json);
                Write(json, result);
            }
        }
    }

    /// <summary>Releases the memory; from then on only the number of documents is reported.</summary>
    public void Forget()
    {
        lock (_sync)
        {
            (_omitted, _count, _isForgotten) = (_omitted + _count, 0, true);
            _json = new ArrayBufferWriter<byte>();
        }
    }

    /// <summary>Writes <c>Details</c>, and <c>DetailsOmitted</c> if some are missing.</summary>
    public void Write(Utf8JsonWriter json)
    {
        lock (_sync)
        {
            json.WritePropertyName("Details");
            json.WriteRawValue([(byte)'[', .. _json.WrittenSpan, (byte)']'], skipInputValidation: true);
            if (_omitted > 0)
                json.WriteNumber("DetailsOmitted", _omitted);
        }
    }

    private static void Write(Utf8JsonWriter json, WriteResult result)
    {
        json.WriteStartObject();
        WireOperation.WriteDetailsType(json, isPatch: result.Patch is not null);
        json.WriteString("Id", result.Id);
        if (result.Patch is { } patch)
        {
            json.WriteString("ChangeVector", result.ChangeVector);
            json.WriteString("Status", patch.Status.ToString());
        }
        else
            json.WriteNumber("Etag", result.Etag);

        json.WriteEndObject();
    }
}
