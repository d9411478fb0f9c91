using Amazon.Runtime;

namespace Treepie.S3;

/// <summary>
/// Turns S3 error codes into messages with advice. Messages of the library that may quote a key are not passed on.
/// </summary>
internal static class S3Errors
{
    /// <summary>Creates an exception with a message for users.</summary>
    public static DestinationException Explain(string place, Exception error, int tries) => error switch
    {
        DestinationException destination => destination,
        AmazonServiceException { ErrorCode: { Length: > 0 } code } service => Explain(place, code, service),
        AmazonServiceException { StatusCode: not 0 } service =>
            Explain(place, ((int)service.StatusCode).ToString(System.Globalization.CultureInfo.InvariantCulture), service),
        _ when Backoff.IsWorthAnother(error) => new(
            DestinationFault.Unreachable,
            $"'{place}' could not be reached in {tries} tries: {Innermost(error).Message} Look whether it runs, at its address "
                + $"(endpoint, region), and at the network.",
            error),
        AmazonClientException => new(
            DestinationFault.KeysRefused,
            $"There are no keys for '{place}'. Give them with the address, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in "
                + $"the environment of this process.", error),
        _ => new(DestinationFault.Failed, $"'{place}' failed: {error.Message}", error),
    };

    private static DestinationException Explain(string place, string code, AmazonServiceException error) => code switch
    {
        "NoSuchBucket" or "NotFound" =>
            new(DestinationFault.Missing, $"There is no bucket at '{place}'. Make it, or mend the address.", error),
        "InvalidAccessKeyId" or "SignatureDoesNotMatch" or "ExpiredToken" or "InvalidToken" or "InvalidSecurity" or "NotSignedUp"
            or "401" => new(
            DestinationFault.KeysRefused,
            $"'{place}' refuses the keys ({code}). Look whether they belong to it, are still valid, and are complete.", error),
        "RequestTimeTooSkewed" or "RequestExpired" => new(
            DestinationFault.ClockSkew,
            $"'{place}' refuses requests because the clock of this machine differs from its own ({code}). Set the clock, for "
                + $"instance by NTP.",
            error),
        "AccessDenied" or "AllAccessDisabled" or "AccountProblem" or "403" => new(
            DestinationFault.Forbidden,
            $"'{place}' does not let these keys in ({code}). They need to list, read, write and delete below that prefix, and to "
                + $"abort multipart uploads.",
            error),
        "NoSuchKey" or "404" => new(DestinationFault.NotFound, $"There is no such backup at '{place}'.", error),
        "PermanentRedirect" or "AuthorizationHeaderMalformed" or "IllegalLocationConstraintException" or "301" or "307" => new(
            DestinationFault.BadAddress,
            $"The bucket of '{place}' is in another region ({code}). Give its region with the address (region=).", error),
        "XMinioStorageFull" or "QuotaExceeded" or "InsufficientStorage" or "507" =>
            new(DestinationFault.NoRoom, $"There is no room at '{place}' ({code}).", error),
        _ => new(DestinationFault.Failed, $"'{place}' failed with {code} (status {(int)error.StatusCode}).", error),
    };

    private static Exception Innermost(Exception error) => error.InnerException is null ? error : Innermost(error.InnerException);
}
